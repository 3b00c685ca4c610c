"""The pages of a run and of a store say which repair made what."""

import re

import pytest
from django.urls import reverse

from experiments.models import Repair
from experiments.runtime.pool import use_pool
from tests.integration.test_repair import repaired
from tests.web.conftest import signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_repairs_of_a_run_are_told_apart_down_to_the_store():
    use_pool(None)
    study = repaired()
    client = signed_in(study.workspace, "viewer")
    page = text_of(client.get(reverse("run", args=[study.runs.get().pk])))
    assert page.count("repair notes_store, rung 2") == 2  # its store and its evaluation
    store = Repair.objects.get(method="notes_store", rung=2).store
    shown = text_of(client.get(reverse("store", args=[store.pk])))
    assert "notes_store by new, rung 2: " in shown
    assert "(allowance 512 output tokens)" in shown
    use_pool(None)


def test_every_number_of_the_repair_page_leads_to_answers():
    tests = {"embedding_upgrade": {"old": "before", "new": "after"},
             "repair": {"methods": ["rag_reembed"]}}  # fmt: skip
    study = repaired(tests, formats=["rag"])
    client = signed_in(study.workspace, "viewer")
    page = text_of(client.get(reverse("repair", args=[study.key])))
    addresses = set(re.findall(r'href="(/studies/[^"]*/answers/[^"]*)"', page))
    assert any("index=old" in address for address in addresses)
    for address in addresses:
        assert "One by one" in text_of(client.get(address.replace("&amp;", "&"))), address
