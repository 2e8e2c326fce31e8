extension QueryOperation {
  /// Says what is missing where a closure takes the elements of the path alone.
  @available(*, unavailable, message: "the context comes after the elements of the path: { id, context in … }")
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    body: @escaping @Sendable (First) async throws(Failure) -> Value
  ) {
    preconditionFailure("Unavailable.")
  }

  /// Says what is missing where a closure takes the elements of the path alone.
  @available(*, unavailable, message: "the context comes after the elements of the path: { id, context in … }")
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    body: @escaping @Sendable (First, Second) async throws(Failure) -> Value
  ) {
    preconditionFailure("Unavailable.")
  }
}
