public import OperationCore

extension OperationContext {
  /// The header fields that tell a server how long the caller of this run waits, how urgent it is, and how much it matters.
  ///
  /// ```swift
  /// for (name, value) in context.callHeaderFields() { request.headers[name] = value }
  /// // grpc-timeout: 1500m
  /// ```
  ///
  /// Add them to each request of a run that has a deadline: the server then begins no work whose caller has gone. The
  /// field `Priority` of [RFC 9218](https://www.rfc-editor.org/rfc/rfc9218) has the priority of the context's task
  /// configuration, or else of the current task. The field `X-Request-Criticality` has the
  /// ``/OperationCore/OperationContext/operationCriticality``, such as `SHEDDABLE_PLUS`. Usual values are left out.
  ///
  /// - Parameter fields: The fields for the deadline.
  /// - Returns: Names and values; none without a deadline and with the usual priority and criticality. A deadline that has
  ///   passed has a time of zero.
  public func callHeaderFields(_ fields: [CallHeaderField] = [.grpcTimeout]) -> [String: String] {
    var values: [String: String] = [:]
    if let remaining = self.operationTimeRemaining {
      let now = self.operationClock.now()
      for field in fields { values[field.name] = field.text(for: remaining, now: now) }
    }
    let urgency = CallUrgency(self.operationTaskConfiguration.priority ?? Task.currentPriority)
    if urgency != .usual { values[CallUrgency.fieldName] = urgency.text }
    let criticality = self.operationCriticality
    if criticality != .critical { values[OperationCriticality.fieldName] = criticality.description }
    return values
  }

  /// Takes the deadline, the priority and the criticality of a request from its header fields.
  ///
  /// ```swift
  /// var context = OperationContext()
  /// context.readCallHeaderFields(request.headers)
  /// let post = try await client.store(for: PostQuery(id: 1).deadline()).fetch(using: context)
  /// ```
  ///
  /// Of several deadlines, one that the context has already included, the earliest counts. With `deadline()`, a run whose
  /// deadline has passed on arrival is rejected before its body, and one whose deadline passes ends then. A field that is
  /// absent or malformed changes nothing, and the names are compared without their case.
  ///
  /// The time that is left counts from now: call it when the request arrives. Take the fields of callers that you trust: the
  /// priority of a stranger is one that every stranger will ask for.
  ///
  /// - Parameters:
  ///   - values: The names and values of the fields.
  ///   - fields: The fields for the deadline.
  ///   - takesPriority: Whether the tasks of runs get the priority that the field `Priority` asks for, and runs the
  ///     criticality of `X-Request-Criticality`.
  public mutating func readCallHeaderFields(
    _ values: some Sequence<(key: String, value: String)>,
    _ fields: [CallHeaderField] = CallHeaderField.all,
    takesPriority: Bool = true
  ) {
    let now = self.operationClock.now()
    var shortest: Duration?
    for (name, value) in values {
      if takesPriority, name.isHeaderName(CallUrgency.fieldName), let urgency = CallUrgency(value) {
        self.operationTaskConfiguration.priority = urgency.priority
      }
      if takesPriority, name.isHeaderName(OperationCriticality.fieldName),
        let criticality = OperationCriticality(headerField: value)
      {
        self.operationCriticality = criticality
      }
      guard let field = fields.first(where: { name.isHeaderName($0.name) }),
        let remaining = field.remaining(in: value, now: now)
      else { continue }
      shortest = min(shortest ?? remaining, remaining)
    }
    guard let shortest else { return }
    let deadline = self.operationDeadlines.instant.advanced(by: shortest.clampedForClock)
    self.operationDeadline = min(self.operationDeadline ?? deadline, deadline)
  }
}

extension String {
  /// Whether two names in header fields, which are ASCII, are the same without their case.
  func isHeaderName(_ other: String) -> Bool {
    self.utf8.count == other.utf8.count && zip(self.utf8, other.utf8).allSatisfy { $0.lowercased == $1.lowercased }
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self }
}
