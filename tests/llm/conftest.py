"""An endpoint for each test."""

from llm.endpoint import endpoint as endpoint
