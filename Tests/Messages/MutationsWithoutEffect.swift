import Operation

// What is for operations that run by themselves does nothing for a mutation.

struct RenameMutation: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with name: String,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { name }
}

func modifiers(_ mutation: RenameMutation, _ query: some QueryRequest<Int, any Error>) {
  // expected-warning@+1 {{nothing runs a mutation because its value is old; apply .stale(after:) to the query}}
  _ = mutation.stale(after: .seconds(1))
  // expected-warning@+1 {{a mutation runs only when it is called; apply .rerun(every:) to the query}}
  _ = mutation.rerun(every: .seconds(1), onlyWhen: .always(true))
  // expected-warning@+1 {{nothing runs a mutation because its value is old}}
  _ = mutation.deduplicated().stale(after: .seconds(1), whenNoValue: false)
  _ = query.stale(after: .seconds(1)).rerun(every: .seconds(1))
}
