import OperationCore
import OperationTags
import OperationTesting
import Testing

/// What causes and explanations tell of tags.
@Suite(.warningsAreIssues) struct TagExplanationTests {
  private let client = OperationClient()

  @Test func `An explanation has the tags of the value, and what has invalidated them`() {
    let store = self.client.posts("posts", initialValue: posts(2, 1))
    #expect(store.explain().sections == [.init(title: "Tags", facts: ["post(1)", "post(2)"])])
    self.client.invalidate(tagged: .post(1))
    #expect(store.staleness.description == "stale, because of an invalidation of the tag post(1)")
    self.client.invalidate(tagged: .post(1), .post(2))
    #expect(store.staleness.description == "stale, because of an invalidation of the tags post(1), post(2)")
  }

  @Test func `Many tags are cut, and those with a secret show its type`() {
    let many = self.client.posts("many", initialValue: (0..<25).map { Post(id: $0) })
    #expect(many.explain().sections.first?.facts.count == 21)
    #expect(many.explain().sections.first?.facts.last == "and 5 more")
    #expect("\(OperationTag.entity("session", Session(token: "hush")))" == "session(Session)")
  }
}

private struct Session: Hashable, Sendable, OperationSecret {
  let token: String
}
