import OperationCore
import OperationDerivation
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// What explanations tell of derived queries and their sources.
@Suite(.bounded, .warningsAreIssues)
struct DerivationExplanationTests {
  private let posts = PostFixture()

  /// Twice the number of the post.
  private var twice: some QueryRequest<Int, any Error> {
    let post = self.posts.freshQuery
    return QueryOperation<Int, any Error>("twice", operationName: "Twice") { context in
      try await context.value(of: post) * 2
    }
    .derived().enableAutomaticRunning(onlyWhen: .always(true)).manualTime(self.posts.clock)
  }

  @Test func `A derived query whose source runs`() async throws {
    let client = self.posts.client
    let (post, twice) = (client.store(for: self.posts.freshQuery), client.store(for: self.twice))
    let subscription = twice.subscribe(named: "TwiceView")
    let run = try await self.posts.script.next()
    self.posts.clock.advance(by: .seconds(3))
    expect(
      twice.explanationText,
      equals: """
        Twice at ["twice"]
        It has no value.
        It is stale, because one of its sources has changed or is stale.
        One subscriber keeps it: TwiceView.
        A run is under way: started by the new subscriber TwiceView; it has waited for 3 s for its source ["posts", 1].
        """
    )
    run.succeed(2)
    try await twice.shows { $0.currentValue == 4 && !$0.isLoading }
    self.posts.clock.advance(by: .seconds(1))
    expect(
      post.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 1 s ago.
        It is fresh for 59 s more.
        One subscriber keeps it: Twice.
        Next: it becomes stale in 59 s.
        """
    )
    _ = twice.explain()
    post.currentValue = 5
    try await twice.shows { $0.currentValue == 10 && !$0.isLoading }
    expect(
      twice.explanationText,
      equals: """
        Twice at ["twice"]
        It has a value (Int), set 0 s ago.
        It is fresh.
        One subscriber keeps it: TwiceView.
        Earlier runs, newest first:
          0 s ago: succeeded after 0 s, started by a change of its source ["posts", 1]
          1 s ago: succeeded, started by the new subscriber TwiceView
        Sources: ["posts", 1], fresh
        """
    )
    subscription.cancel()
  }
}

extension OperationStore {
  /// Waits until the store shows a state.
  fileprivate func shows(_ condition: @escaping @Sendable (State) -> Bool) async throws {
    _ = try await withTimeLimit("a state") { await self.states.first { condition($0.state) } }
  }
}
