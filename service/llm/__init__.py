"""One client for any chat endpoint that speaks OpenAI's protocol (issue 7)."""
