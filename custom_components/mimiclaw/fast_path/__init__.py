"""Commands understood without a model: text in, certain commands or nothing out."""
