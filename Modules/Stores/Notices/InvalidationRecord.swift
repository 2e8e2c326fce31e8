package import OperationFoundation

/// What has invalidated stores, and when. All stores of one invalidation refer to the same record.
package final class InvalidationRecord: Sendable {
  private enum Subject: Sendable {
    case path(OperationPath)
    case text(@Sendable () -> String)
  }

  private let content: Subject
  /// The name of the mutation that has invalidated the stores; nil for other code.
  let operationName: String?
  /// By the clock of the first store.
  let date: Date?

  package init(of path: OperationPath, by operationName: String?, at date: Date?) {
    self.content = .path(path)
    self.operationName = operationName
    self.date = date
  }

  package init(by operationName: String?, at date: Date?, _ text: @escaping @Sendable () -> String) {
    self.content = .text(text)
    self.operationName = operationName
    self.date = date
  }

  /// The prefix of the paths, or the tags, as text.
  var subject: String {
    switch self.content {
    case .path(let path): path.isEmpty ? "all stores" : ShownText.of(path)
    case .text(let text): text()
    }
  }
}

extension InvalidationRecord: CustomStringConvertible {
  /// The invalidation for a sentence: `an invalidation of ["posts"] by AddPost`.
  package var description: String {
    "an invalidation of \(self.subject)" + (self.operationName.map { " by \($0)" } ?? "")
  }
}

extension InvalidationRecord {
  /// The invalidation of a store whose value was stored while it was invalidated.
  static let ofStoredValue = InvalidationRecord(by: nil, at: nil) { "the stored value" }
}
