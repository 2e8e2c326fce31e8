import Foundation
import Operation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// The reference documents' first sample: a post and the query that fetches it.

struct Post: Hashable, Identifiable, Sendable, Codable {
  let id: Int
  var userId: Int
  var title: String
  var body: String
}

extension Post {
  static let observer = MockNetworkObserver(initialStatus: .connected)

  static func query(for id: Int) -> some QueryRequest<Self?, any Error> {
    // The modifiers on the query are applied by default, they are
    // only being shown to demonstrate how to configure operations.
    Query(id: id)
      .retry(limit: 3)
      .deduplicated()
      .rerunOnChange(
        of: .connected(to: Self.observer)
      )
  }

  struct Query: QueryRequest, Hashable {
    let id: Int

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Post?, any Error>
    ) async throws -> Post? {
      guard let url = URL(string: "https://dummyjson.com/posts/\(id)") else { throw URLError(.badURL) }
      let (data, resp) = try await context.dataTransport.data(for: URLRequest(url: url))
      if (resp as? HTTPURLResponse)?.statusCode == 404 {
        return nil
      }
      return try JSONDecoder().decode(Post.self, from: data)
    }
  }
}
