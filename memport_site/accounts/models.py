"""Who may do what: users, workspaces, and what was done."""

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models

from memport_site.accounts.permissions import Role


class User(AbstractUser):
    """A person who signs in. Custom from the first migration, so that it can grow."""


class Workspace(models.Model):
    """Everything is kept in a workspace; nothing is shared between two."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's role in a workspace."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "workspace"], name="one_role_per_workspace"),
            models.CheckConstraint(
                condition=models.Q(role__in=[r.value for r in Role]), name="membership_role_known"
            ),
        ]


class Token(models.Model):
    """A secret that stands for a user: kept as a hash, valid until it expires or is used up."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    purpose = models.CharField(max_length=20, choices=[("sign_in", "sign_in"), ("api", "api")])
    sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)


class AuditEntry(models.Model):
    """Something a person did that changed the record. Never edited, never deleted."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, null=True)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True)
    at = models.DateTimeField(auto_now_add=True)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
