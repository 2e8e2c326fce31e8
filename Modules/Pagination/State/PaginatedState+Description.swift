internal import OperationCore

extension PaginatedState: CustomStringConvertible, CustomReflectable {
  /// The status, the pages and the error in one line.
  public var description: String { "PaginatedState(\(self.summary))" }

  /// The members of the state, for `dump` and debuggers.
  public var customMirror: Mirror {
    let members: KeyValuePairs<String, Any> = [
      "status": self.status,
      "currentValue": self.currentValue,
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
