import OperationCore
import OperationTags
import TestFixtures
import Testing

@Suite(.bounded) struct OperationTagTests {
  @Test func `Tags are equal if their names and identifiers are`() {
    expect(OperationTag("posts"), equals: OperationTag("posts"))
    #expect(OperationTag("posts") != OperationTag("post"))
    expect(OperationTag.entity("post", 1), equals: .entity("post", 1))
    #expect(OperationTag.entity("post", 1) != .entity("post", 2))
    #expect(OperationTag.entity("post", 1) != .entity("author", 1))
    #expect(OperationTag.entity("post", 1) != OperationTag("post"))
    #expect(OperationTag("post") != .entity("post", 1))
    expect(
      Set([OperationTag("a"), OperationTag("a"), .entity("a", 1), .entity("a", 1), .entity("a", "1")]).count,
      equals: 3
    )
  }

  @Test func `A literal is a tag that is only a name`() async {
    let client = OperationClient()
    let posts = client.store(for: QueryOperation("posts") { _ in 1 }.tagged("posts"), initialValue: 1)
    let others = client.store(for: QueryOperation("others") { _ in 1 }.tagged("others"), initialValue: 1)
    await client.invalidate(tagged: "posts").settled()
    #expect(posts.isInvalidated && !others.isInvalidated)
    expect(OperationTag("posts"), equals: "posts")
  }

  @Test func `Identifiers of different types are different`() {
    #expect(OperationTag.entity("post", 1) != .entity("post", Int64(1)))
    #expect(OperationTag.entity("post", 1) != .entity("post", Int?.some(1)))
  }

  @Test func `The description is the name with the identifier`() {
    expect("\(OperationTag("posts"))", equals: "posts")
    expect("\(OperationTag.entity("post", 5))", equals: "post(5)")
  }
}
