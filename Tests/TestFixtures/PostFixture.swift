package import OperationCore
package import OperationTesting

/// A client, a clock and a query whose explanations tests read.
package struct PostFixture {
  package let client = OperationClient()
  package let clock = ManualClock()
  package let script = OperationScript<Int, any Error>()

  package init() {}

  /// The query, which runs by itself.
  package var query: some QueryRequest<Int, any Error> {
    GetPost(script: self.script).enableAutomaticRunning(onlyWhen: .always(true)).manualTime(self.clock)
  }

  /// The query, whose values are fresh for a minute.
  package var freshQuery: some QueryRequest<Int, any Error> { self.query.stale(after: .seconds(60)) }
}
