"""Make `golden_vectors.json`: vectors of sentence-transformers, for a test that needs no torch.

Run with a Python that has sentence-transformers, from the top of the repository, after
`memport models fetch all-minilm-l6-v2`:

    PYTHONPATH=. python tests/reference/make_golden_vectors.py <folder of the model>

The file says which versions made it.
"""

import json
import platform
import sys
from pathlib import Path

import sentence_transformers
import torch

from tests.embedding_texts import comparison_texts

EVERY = 7
DECIMALS = 7


def main(folder: str) -> None:
    """Embed every seventh of the comparison texts and write their vectors."""
    model = sentence_transformers.SentenceTransformer(folder, device="cpu")
    texts = comparison_texts()[::EVERY]
    vectors = model.encode(texts, normalize_embeddings=True)
    document = {
        "model": "all-minilm-l6-v2",
        "made_by": {
            "sentence_transformers": sentence_transformers.__version__,
            "torch": torch.__version__,
            "machine": platform.machine(),
        },
        "every": EVERY,
        "vectors": [[round(float(x), DECIMALS) for x in vector] for vector in vectors],
    }
    path = Path(__file__).with_name("golden_vectors.json")
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
