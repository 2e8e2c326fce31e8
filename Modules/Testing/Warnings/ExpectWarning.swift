public import OperationCore
public import Testing

/// Expects `body` to cause a warning with the code `code`, and records an issue if it does not.
///
/// Other warnings are reported when `body` has ended, as they would be without this function.
///
/// - Parameters:
///   - code: The kind of the expected warning.
///   - sourceLocation: Where an issue is reported.
///   - body: The code that causes the warning.
/// - Returns: The value of `body`.
/// - Throws: The error of `body`.
@discardableResult
public func expectWarning<R, E: Error>(
  _ code: OperationWarning.Code,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(E) -> R
) throws(E) -> R {
  let recorder = WarningRecorder()
  defer { recorder.expect(code, at: sourceLocation) }
  return try recorder.recording(body)
}

/// Expects `body` to cause a warning with the code `code`, and records an issue if it does not.
///
/// Other warnings are reported when `body` has ended, as they would be without this function.
///
/// - Parameters:
///   - code: The kind of the expected warning.
///   - sourceLocation: Where an issue is reported.
///   - body: The code that causes the warning.
/// - Returns: The value of `body`.
/// - Throws: The error of `body`.
@discardableResult
nonisolated(nonsending)
  public func expectWarning<R, E: Error>(
    _ code: OperationWarning.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R
{
  let recorder = WarningRecorder()
  defer { recorder.expect(code, at: sourceLocation) }
  return try await recorder.recording(body)
}

extension WarningRecorder {
  /// Records an issue unless a warning of a kind was recorded, and reports all others.
  fileprivate func expect(_ code: OperationWarning.Code, at sourceLocation: SourceLocation) {
    let others = self.warnings.filter { $0.code != code }
    if others.count == self.warnings.count {
      let reported = others.isEmpty ? "There was none." : "There were others: \(others.map(\.code))."
      Issue.record("Expected a warning of the kind '\(code)'. \(reported)", sourceLocation: sourceLocation)
    }
    for warning in others { warning.report() }
  }
}
