#if SwiftOperationMetrics
  public import OperationCore
  internal import Synchronization

  /// The names of operations in metrics, of which there is a bounded number, because a backend keeps series for each.
  final class OperationNames: Sendable {
    /// The maximum number of names. Operations with other names are measured together.
    static let maximum = 1_000
    /// The name of these operations.
    static let other = "other"

    private struct State {
      var known: Set<String> = []
      var isReported = false
    }

    private let state = Mutex(State())

    init() {}

    /// The name that an operation is measured by: its own, unless there are too many others. Reports the first of these.
    func name(_ name: String) -> String {
      let (name, isFirst) = self.state.withLock { state -> (String, Bool) in
        if state.known.contains(name) { return (name, false) }
        guard state.known.count >= Self.maximum else {
          state.known.insert(name)
          return (name, false)
        }
        defer { state.isReported = true }
        return (Self.other, !state.isReported)
      }
      if isFirst { OperationWarning.tooManyMeasuredNames.report() }
      return name
    }
  }

  extension OperationWarning {
    fileprivate static var tooManyMeasuredNames: OperationWarning {
      OperationWarning(
        code: .tooManyMeasuredNames,
        message: """
          More than \(OperationNames.maximum) operations with different names are measured. The others are measured together, with the \
          name "\(OperationNames.other)". Give operations names without values: QueryOperation("user", id), and not \
          QueryOperation("user \\(id)"), or pass `measured(_:)` a name.
          """
      )
    }
  }

  extension OperationWarning.Code {
    /// Operations with too many different names are measured, as if their names had values in them.
    public static let tooManyMeasuredNames = Self(description: "tooManyMeasuredNames")
  }
#endif
