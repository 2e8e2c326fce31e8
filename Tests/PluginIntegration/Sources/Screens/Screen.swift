import OperationCore

package nonisolated enum Screen: Hashable, Sendable {
  case start, end
}

package struct TitleQuery: QueryRequest {
  let of: Screen

  package init(of screen: Screen) {
    self.of = screen
  }

  package func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    "\(context.screen ?? self.of)"
  }
}
