public import Operation

// Kinds of requests, for samples that need one by name.

/// A query for a number, which needs nothing but a name.
public protocol SampleQuery: QueryRequest, Hashable where Value == Int, Failure == any Error {}

extension SampleQuery {
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    sample()
  }
}

/// A mutation of a text, which needs nothing but a name.
public protocol SampleMutation: MutationRequest, Hashable
where Arguments == String, MutateValue == Post, MutateFailure == any Error {}

extension SampleMutation {
  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: String,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post {
    sample()
  }
}

/// An operation that needs nothing but a name.
public protocol EmptyOperation: OperationRequest, Sendable where Value == Void, Failure == any Error {}

extension EmptyOperation {
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}
