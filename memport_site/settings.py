"""Settings: one file, the environment through typed helpers that refuse nonsense."""

import os
import secrets
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF, UNSAFE_INLINE
from environs import Env

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent
# Everything that memport keeps on disk: database, models, secret key, exports.
HOME = env.path("MEMPORT_HOME", BASE_DIR / "var").resolve()
HOME.mkdir(parents=True, exist_ok=True)
MODELS_DIR = env.path("MEMPORT_MODELS_DIR", HOME / "models").resolve()
CATALOGUE = env.path("MEMPORT_CATALOGUE", BASE_DIR / "experiments" / "catalogue.yaml")


def _secret_key() -> str:
    """Return the key from the environment, or the one made at first use (mode 0600)."""
    if given := env.str("DJANGO_SECRET_KEY", ""):
        return str(given)
    path = HOME / "secret_key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text()


SECRET_KEY = _secret_key()
DEBUG = env.bool("DJANGO_DEBUG", False)
ALLOWED_HOSTS = env.list("DJANGO_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("DJANGO_CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "memport_site.accounts",
    "stores",
    "experiments",
    "analysis",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "axes",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "memport_site.urls"
WSGI_APPLICATION = "memport_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memport_site.accounts.access.access",
            ],
        },
    }
]

DATABASES = {"default": env.dj_db_url("DATABASE_URL", f"sqlite:///{HOME / 'memport.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Without IMMEDIATE, concurrent writers lose work to "database is locked", WAL or not.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "studies"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Guessing a password stops after a few tries; a one-time link still signs in meanwhile.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "accounts/locked.html"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
# The embedded server speaks plain HTTP on the loopback interface; behind TLS, set these.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("MEMPORT_BEHIND_TLS", False)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        # Plotly writes style attributes and draws into data: and blob: images.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = env.path("MEMPORT_STATIC_ROOT", BASE_DIR / "staticfiles")
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "memport_site.staticfiles.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Pages name hashed files alone, so that browsers may keep them for good; compress nothing else.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_ALLOW_ALL_ORIGINS = False

MEBIBYTE = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * MEBIBYTE
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * MEBIBYTE
MAX_UPLOAD_BYTES = env.int("MEMPORT_MAX_UPLOAD_MIB", 64) * MEBIBYTE

# The truth about a job is in the database. The broker only wakes a worker up, so the
# embedded default may forget everything at exit.
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", "memory://localhost//")
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"polling_interval": 0.05} if CELERY_BROKER_URL.startswith("memory://") else {}
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
LEASE_S = env.int("MEMPORT_LEASE_S", 60)
HEARTBEAT_S = env.int("MEMPORT_HEARTBEAT_S", 5)
# Local chat models held in memory at once; the jobs of a run are ordered by model.
LOADED_MODELS = env.int("MEMPORT_LOADED_MODELS", 1)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env.str("MEMPORT_LOG_LEVEL", "WARNING")},
}
