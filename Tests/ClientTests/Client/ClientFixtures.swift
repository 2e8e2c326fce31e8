import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Another type of query at the paths of ``NumberQuery``.
struct RivalQuery: QueryRequest, Hashable {
  var number: Int

  init(_ number: Int) {
    self.number = number
  }

  var path: OperationPath { ["numbers", self.number] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    -self.number
  }
}

/// A query of text.
struct TextQuery: QueryRequest, Hashable {
  var text: String

  init(_ text: String) {
    self.text = text
  }

  var path: OperationPath { ["texts", self.text] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    self.text
  }
}

extension OperationClient {
  /// Notes the stores that are added and removed.
  func announcing(
    to log: Log<String>,
    matching path: OperationPath = []
  ) -> OperationSubscription {
    self.subscribe(matching: path) { change in
      for store in change.storesRemoved.sorted(by: { $0.path.description < $1.path.description }) {
        log.append("- \(store.path)")
      }
      for store in change.storesAdded.sorted(by: { $0.path.description < $1.path.description }) {
        log.append("+ \(store.path)")
      }
    }
  }
}
