import OperationCore
import OperationEvents
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// What causes and explanations tell of tags.
@Suite(.bounded, .warningsAreIssues) struct TagExplanationTests {
  private let client = OperationClient()

  @Test func `An explanation has the tags of the value, and what has invalidated them`() {
    let store = self.client.posts("posts", initialValue: posts(2, 1))
    expect(store.explain().sections, equals: [.init(title: "Tags", facts: ["post(1)", "post(2)"])])
    self.client.invalidate(tagged: .post(1))
    expect(store.staleness.description, equals: "stale, because of an invalidation of the tag post(1)")
    self.client.invalidate(tagged: .post(1), .post(2))
    expect(store.staleness.description, equals: "stale, because of an invalidation of the tags post(1), post(2)")
  }

  @Test func `Many tags are cut, and those with a secret show its type`() {
    let many = self.client.posts("many", initialValue: (0..<25).map { Post(id: $0) })
    expect(many.explain().sections.first?.facts.count, equals: 21)
    expect(many.explain().sections.first?.facts.last, equals: "and 5 more")
    expect("\(OperationTag.entity("session", Session(token: "hush")))", equals: "session(Session)")
  }
  @Test func `Tagged, and invalidated by a tag`() {
    let fixture = PostFixture()
    let store = fixture.client.store(for: fixture.freshQuery.tagged(OperationTag("feed"), .post(1)))
    store.currentValue = 1
    fixture.client.invalidate(tagged: OperationTag("feed"))
    fixture.clock.advance(by: .seconds(4))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 4 s ago.
        It has been stale for 4 s, because of an invalidation of the tag feed.
        It has no subscribers.
        Tags: feed; post(1)
        Next: it is evicted in 4 min 56 s.
        """
    )
  }
}

private struct Session: Hashable, Sendable, OperationSecret {
  let token: String
}
