"""The machinery that executes jobs: who works, who owns a job, and which models are loaded."""
