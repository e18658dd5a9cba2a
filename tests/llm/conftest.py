"""An endpoint for each test."""

from llm.asking import endpoint as endpoint
