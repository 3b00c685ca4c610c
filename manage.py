#!/usr/bin/env python
"""Django's own command line; memport's is the `memport` console script."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
    execute_from_command_line(sys.argv)
