"""Additions to the OpenAPI document beyond the routes' types: schemas, and an example for every body and answer."""
