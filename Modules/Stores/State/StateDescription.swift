extension OperationState {
  /// The status, the value and the error of the state in one line: `loading, value 1`.
  package var summary: String {
    let isValueSet = self.valueUpdateCount > 0
    let status: String =
      switch self.status {
      case _ where self.isPaused: "paused"
      case .loading: "loading"
      case .idle: "idle"
      case .result(.success): "success"
      case .result(.failure): "failure"
      }
    let value = String(optional: self.currentValue).map { "value \($0.inOneLine)" }
    let error = self.error.map { "error \(ShownText.whole($0).inOneLine)" }
    return [status, value ?? (isValueSet ? "value nil" : "no value"), error].compactMap(\.self).joined(separator: ", ")
  }
}

extension String {
  /// The description of a value; nil for a value that is nil.
  fileprivate init?(optional value: Any) {
    guard let optional = value as? any OptionalValue else {
      self = ShownText.of(value: value)
      return
    }
    guard !optional.isNil, let value = Mirror(reflecting: optional).children.first?.value else { return nil }
    self = ShownText.of(value: value)
  }

  /// The text without line breaks, cut to the length of a line.
  fileprivate var inOneLine: String {
    let line = String(self.map { $0.isNewline ? " " : $0 })
    return line.count > 200 ? line.prefix(200) + "…" : line
  }
}

extension QueryState: CustomStringConvertible, CustomReflectable {
  /// The status, the value and the error in one line.
  public var description: String { "QueryState(\(self.summary))" }

  /// The members of the state, for `dump` and debuggers.
  public var customMirror: Mirror {
    let members: KeyValuePairs<String, Any> = [
      "status": self.status,
      "currentValue": self.currentValue as Any,
      "valueUpdateCount": self.valueUpdateCount,
      "valueLastUpdatedAt": self.valueLastUpdatedAt as Any,
      "error": self.error as Any,
      "errorUpdateCount": self.errorUpdateCount,
      "errorLastUpdatedAt": self.errorLastUpdatedAt as Any,
      "activeTasks": self.activeTasks.count,
    ]
    return Mirror(self, children: members, displayStyle: .struct)
  }
}

extension DefaultOperationState: CustomStringConvertible {
  /// The status, the value and the error in one line.
  public var description: String { "DefaultOperationState(\(self.summary))" }
}
