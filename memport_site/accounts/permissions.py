"""The table of permissions: which role may do what. Read by every view and command."""

from enum import StrEnum


class Role(StrEnum):
    """Roles from the widest to the narrowest."""

    ADMIN = "admin"
    OPERATOR = "operator"
    REVIEWER = "reviewer"
    VIEWER = "viewer"


class Permission(StrEnum):
    """Verbs that a role may or may not do."""

    VIEW = "view"
    LAUNCH = "launch"
    IMPORT = "import"
    REVIEW = "review"
    MANAGE = "manage"


TABLE: dict[Role, frozenset[Permission]] = {
    Role.ADMIN: frozenset(Permission),
    Role.OPERATOR: frozenset({Permission.VIEW, Permission.LAUNCH, Permission.IMPORT}),
    Role.REVIEWER: frozenset({Permission.VIEW, Permission.REVIEW}),
    Role.VIEWER: frozenset({Permission.VIEW}),
}


def allows(role: str, permission: Permission) -> bool:
    """Whether the table gives `role` this permission; an unknown role has none."""
    return role in set(Role) and permission in TABLE[Role(role)]
