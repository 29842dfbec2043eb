"""What the OpenAPI document has beyond the types of the routes: schemas, and an example for every body and answer."""
