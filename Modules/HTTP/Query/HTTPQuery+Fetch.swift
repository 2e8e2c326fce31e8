internal import OperationCore
internal import OperationFreshness

extension HTTPQuery {
  /// The request without the rule of freshness, which is a modifier around it.
  struct Fetch: QueryRequest {
    typealias State = QueryState<Value, any Error>

    let request: OperationHTTPRequest
    let path: OperationPath
    let isShared: Bool
    /// The value where the server has nothing at the address; nil if that is a failure.
    let absent: (@Sendable () -> Value)?
    let reading: Reading

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Value, any Error>
    ) async throws -> Value {
      var request = self.request
      let isConditional = request.isConditional
      if !isConditional {
        for (name, value) in context.validators?.headerFields ?? [] { request.fields[name] = value }
      }
      let response = try await context.answer(to: request)
      let now = context.operationClock.now()
      switch response.status {
      case 200..<300: break
      case 304 where !isConditional:
        context.freshness = self.freshness(of: response)
        guard let value = context.revalidatedValue(as: Value.self) else { throw await response.statusError(now: now) }
        // To the end, although it is empty: the connection can be used again then.
        _ = try? await response.data()
        return value
      case 404, 410:
        guard let absent = self.absent else { throw await response.statusError(now: now) }
        context.freshness = self.freshness(of: response)
        return absent()
      default: throw await response.statusError(now: now)
      }
      context.freshness = self.freshness(of: response)
      return try await self.reading(response, context, continuation)
    }

    private func freshness(of response: OperationHTTPResponse) -> OperationHTTPFreshness {
      let fields = response.fields.lazy.map { (name: $0.name, value: $0.value) }
      var freshness = OperationHTTPFreshness(headerFields: fields, isShared: self.isShared)
      freshness.isAuthorized = self.request.fields["Authorization"] != nil
      return freshness
    }
  }
}

extension OperationHTTPRequest {
  /// Whether it asks by fields of its own whether a value is still valid.
  fileprivate var isConditional: Bool {
    ["If-None-Match", "If-Modified-Since"].contains { self.fields[$0] != nil }
  }
}
