public import OperationCore

// Calls of one kind of store on another kind. Without these declarations the compiler finds fault with `store(for:)`, or with a
// member of the state.
extension OperationStore where State: MutationStateProtocol {
  /// Not for mutations: call ``mutate(with:using:handler:)``.
  @available(*, unavailable, message: "a mutation is not fetched: call mutate(with:)")
  public func fetch(using context: OperationContext? = nil) async throws(State.Failure) -> State.OperationValue {
    preconditionFailure("Unavailable.")
  }

  /// The arguments have a label.
  @available(*, unavailable, renamed: "mutate(with:)")
  public func mutate(_ arguments: State.Arguments) async throws(State.Failure) -> State.OperationValue {
    preconditionFailure("Unavailable.")
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Not for queries: call `fetch()`, or set the value.
  @available(*, unavailable, message: "a query is not mutated: call fetch(), or set currentValue")
  public func mutate<Arguments>(with arguments: Arguments) async throws(State.Failure) -> State.OperationValue {
    preconditionFailure("Unavailable.")
  }
}

extension MutationRequest {
  /// Not for the type of a value: `of:` names the state of the stores that are changed.
  @available(
    *,
    unavailable,
    message: "`of:` takes the type of a state, such as QueryState<Post, any Error>.self"
  )
  @_disfavoredOverload
  public func optimistic<Value>(
    on path: OperationPath,
    of value: Value.Type,
    apply: @escaping @Sendable (inout Value?, Arguments) -> Void
  ) -> Self {
    preconditionFailure("Unavailable.")
  }
}

extension OperationClient {
  /// Not for mutations: call ``mutate(_:with:using:)``.
  @available(*, unavailable, message: "a mutation has no value to ensure: call mutate(_:with:)")
  @discardableResult
  public func ensureValue<Mutation: MutationRequest>(
    for mutation: Mutation
  ) async throws(Mutation.MutateFailure) -> Mutation.MutateValue {
    preconditionFailure("Unavailable.")
  }

  /// Not for mutations: they run when they are called.
  @available(*, unavailable, message: "a mutation runs only when it is called: call mutate(_:with:)")
  public func prefetch<Mutation: MutationRequest>(for mutation: Mutation) async {
    preconditionFailure("Unavailable.")
  }

  /// Not for queries: call `fetch(_:)`, or set the value.
  @available(*, unavailable, message: "a query is not mutated: call fetch(_:), or setValue(_:for:)")
  @discardableResult
  public func mutate<Query: QueryRequest>(_ query: Query) async throws(Query.Failure) -> Query.Value {
    preconditionFailure("Unavailable.")
  }
}

extension QueryRequest {
  /// Not for queries: they change nothing.
  @available(*, unavailable, message: "only a mutation invalidates: write it on the mutation")
  public func invalidates(matching path: OperationPath) -> Self {
    preconditionFailure("Unavailable.")
  }

  /// Not for queries: their runs are shared.
  @available(*, unavailable, message: "only mutations have a scope: runs of a query at the same time are one run")
  public func scope(_ scope: some Hashable & Sendable) -> Self {
    preconditionFailure("Unavailable.")
  }
}
