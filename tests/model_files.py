"""The real model files of the tests, as `make setup` fetches them. Missing ones fail, loudly."""

from django.conf import settings

from experiments.engines.catalogue import Catalogue
from experiments.engines.engines import open_chat_model
from experiments.engines.llama_cpp import LlamaCppModel
from experiments.plan import schema

SMALL = "smollm2-135m-instruct-q4_1"


def the_catalogue() -> Catalogue:
    """Return the catalogue of the project with the models' folder of the settings."""
    return Catalogue(settings.CATALOGUE, settings.MODELS_DIR)


def open_small_model(context_tokens: int = 1024) -> LlamaCppModel:
    """Open the 135M; raises with the command to run where it was never fetched.

    One thread: where other tests want the cores too, two threads wait for each other at every
    layer and take twenty times as long.
    """
    model = open_chat_model(
        schema.Model(key="small", engine="llama_cpp", catalogue=SMALL, options={"threads": 1}),
        context_tokens=context_tokens,
        catalogue=the_catalogue(),
    )
    assert isinstance(model, LlamaCppModel)
    return model
