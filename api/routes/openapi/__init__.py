"""What the OpenAPI document says beyond the types of the routes: schemas, and an example for every body and answer."""
