"""The OpenAPI document: schemas, examples, and its page for people."""
