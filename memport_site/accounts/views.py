"""Signing in (by password, or by a one-time link) and out."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from memport_site.accounts import services
from memport_site.accounts.access import post_or_go_to

sign_in = LoginView.as_view(template_name="accounts/sign_in.html", redirect_authenticated_user=True)
sign_out = post_or_go_to("studies")(LogoutView.as_view())


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in with a one-time link. Opening it uses nothing up: a button does.

    Mail scanners and prefetching browsers open links on their own; a link that worked on being
    opened would be spent before its owner came.
    """
    if request.method != "POST":
        return render(request, "accounts/sign_in_link.html")
    user = services.use_sign_in_token(token)
    if user is None:
        return render(request, "accounts/sign_in_link.html", {"spent": True}, status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    messages.success(request, f"Signed in as {user.get_username()}.")
    return redirect("studies")
