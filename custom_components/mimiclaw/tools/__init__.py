"""What the model may call, one module a tool family."""
