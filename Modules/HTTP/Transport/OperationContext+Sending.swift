public import OperationCore
public import OperationTimeout

extension OperationContext {
  /// The header fields in which a request tells the server the deadline of its run: `grpc-timeout` by default.
  ///
  /// They go along with the priority and the criticality of the run. With no fields, none of the three is sent: choose that
  /// for servers of others.
  public var operationHTTPCallFields: [CallHeaderField] {
    get { self[CallFieldsKey.self] }
    set { self[CallFieldsKey.self] = newValue }
  }

  private enum CallFieldsKey: Key {
    static let defaultValue: [CallHeaderField] = [.grpcTimeout]
  }

  /// Sends a request by the transport of the context, with the deadline and the criticality of the run.
  ///
  /// ```swift
  /// let create = MutationOperation("posts", "create") { (draft: Draft, context) in
  ///   try await context.send(OperationHTTPRequest(url, json: draft)).decoded(as: Post.self)
  /// }
  /// ```
  ///
  /// A field that the request has already is not replaced.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, whose status is one of success: 200 to 299.
  /// - Throws: An ``OperationHTTPStatusError`` for another status, and what has kept the answer from arriving.
  public func send(_ request: OperationHTTPRequest) async throws -> OperationHTTPResponse {
    try await self.answer(to: request).successful(now: self.operationClock.now())
  }

  /// The answer of any status.
  func answer(to request: OperationHTTPRequest) async throws -> OperationHTTPResponse {
    var request = request
    let fields = self.operationHTTPCallFields
    if !fields.isEmpty {
      let values = self.callHeaderFields(fields).sorted { $0.key < $1.key }
      for (name, value) in values where request.fields[name] == nil { request.fields[name] = value }
    }
    return try await self.operationHTTPTransport.send(request)
  }

  /// Takes the deadline, the priority and the criticality of a request that a server has received.
  ///
  /// ```swift
  /// var context = OperationContext()
  /// context.readCallHeaderFields(OperationHTTPFields(request.headers))
  /// let post = try await client.store(for: PostQuery(id: 1).deadline()).fetch(using: context)
  /// ```
  ///
  /// The time that is left counts from now: call it when the request arrives.
  ///
  /// - Parameters:
  ///   - fields: The header fields of the request.
  ///   - takesPriority: Whether to take the priority and the criticality, which a stranger can choose.
  public mutating func readCallHeaderFields(_ fields: OperationHTTPFields, takesPriority: Bool = true) {
    self.readCallHeaderFields(fields.lazy.map { (key: $0.name, value: $0.value) }, takesPriority: takesPriority)
  }
}
