package import Testing

/// Records a broken rule of a check as an issue of the test.
package struct RuleReport: Sendable {
  /// The kind of thing that is checked: `modifier`, `storage`.
  let subject: String
  let rule: String
  /// The longest time for each wait of the check.
  package let limit: Duration
  let sourceLocation: SourceLocation

  package init(
    _ subject: String,
    rule: some CustomStringConvertible,
    within limit: Duration?,
    orWithin standard: Duration = .seconds(10),
    at sourceLocation: SourceLocation
  ) {
    self.subject = subject
    self.rule = rule.description
    self.limit = limit ?? WaitLimit.explicit ?? standard
    self.sourceLocation = sourceLocation
  }

  /// Records an issue unless the rule is kept.
  ///
  /// - Parameters:
  ///   - isKept: Whether the rule is kept.
  ///   - what: The wrong value and the remedy; evaluated only for an issue.
  package func expect(_ isKept: Bool, _ what: @autoclosure () -> String) {
    guard !isKept else { return }
    Issue.record("The \(self.subject) breaks the rule '\(self.rule)': \(what())", sourceLocation: self.sourceLocation)
  }

  /// Runs the check of the rule. A wait that exceeds its limit breaks the rule.
  package func perform(_ check: () async throws -> Void) async throws {
    do {
      try await check()
    } catch let error as WaitTimedOut {
      self.expect(false, error.description)
    }
  }

  /// Waits for `body`, and records a broken rule if it exceeds its limit.
  ///
  /// - Parameters:
  ///   - remedy: The remedy for the author, as a sentence.
  ///   - body: Waits, and throws ``WaitTimedOut`` when it exceeds its limit.
  /// - Returns: False if `body` exceeded its limit.
  /// - Throws: Any other error of `body`.
  package func waits(_ remedy: String, for body: () async throws -> Void) async throws -> Bool {
    do {
      try await body()
      return true
    } catch let error as WaitTimedOut {
      self.expect(false, "\(error) \(remedy)")
      return false
    }
  }

  /// The limit of a wait that may include another wait which exceeds its limit.
  var longLimit: Duration { self.limit < .seconds(86_400) ? self.limit * 3 : self.limit }
}
