import OperationBatching
import OperationCore
import OperationTesting
import Testing

private struct Author: Sendable {
  let name: String
}

private struct Server: Sendable {
  func authors(_ ids: [Int]) async throws -> [Int: Author] {
    Dictionary(uniqueKeysWithValues: ids.map { ($0, Author(name: "author \($0)")) })
  }
}

private struct User {
  let id: Int
}

@Suite(.warningsAreIssues) struct ArticleSamples {
  @Test func `The samples of the article compile and run`() async throws {
    let (server, client, user) = (Server(), OperationClient(), User(id: 4))
    let authors = OperationBatcher<Int, Author>(maximumSize: 100, window: .milliseconds(2)) { ids, context in
      let found = try await server.authors(ids)
      return found.mapValues { .success($0) }
    }
    let author = try await authors.load(7)
    let store = client.store(for: authors.query(for: 7))
    let name = try await store.fetch().name
    var context = OperationContext()
    context.operationBatchScope = user.id
    let mine = try await authors.load(7, in: context)
    let named = OperationBatcher<Int, Author>(name: "authors") { ids, context in
      try await server.authors(ids).mapValues { .success($0) }
    }
    let path = named.query(for: 7).path  // ["BatchedQuery", "authors", 7]
    #expect(path.description.contains("authors"))
    #expect(author.name == "author 7")
    #expect(name == "author 7")
    #expect(mine.name == "author 7")
  }
}
