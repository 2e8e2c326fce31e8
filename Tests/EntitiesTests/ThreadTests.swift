import OperationCore
import OperationEntities
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// Threads that edit, set, fetch and mutate at the same time.
@Suite(.bounded, .warningsAreIssues) struct ThreadTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func `When all have ended, all values have the same parts`(seed: UInt64) async throws {
    let client = OperationClient()
    let edits = OperationScript<Post, any Error>(default: .value(Post(id: 1, title: "result")))
    let feeds = (0..<3).map { number in
      client.feed("feed \(number)", FeedScript(default: .value(posts([0: "run \(number)", 1: "run \(number)"]))))
    }
    for feed in feeds { feed.currentValue = posts([0: "a", 1: "b", 2: "c"]) }
    let with = client.store(for: EditPost(script: edits, path: ["with"]).withResult)
    let without = client.store(for: EditPost(script: edits, path: ["without"]).withoutResult)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 as Range<UInt64> {
        group.addTask {
          var generator = SeededGenerator(seed: seed &* 4 &+ thread)
          for round in 0..<200 {
            let id = Int.random(in: 0..<3, using: &generator)
            let feed = feeds[Int.random(in: 0..<3, using: &generator)]
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: client.putEntity(Post(id: id, title: "put \(thread).\(round)"))
            case 1: feed.currentValue = posts([0: "set \(thread).\(round)", 1: "b", 2: "c"])
            case 2: _ = try? await feed.fetch()
            case 3: _ = try? await with.mutate(with: Edit(id: id, suffix: ""))
            default: _ = try? await without.mutate(with: Edit(id: id, suffix: "!"))
            }
          }
        }
      }
    }
    for feed in feeds {
      for post in feed.currentValue ?? [] {
        expect(post, equals: client.entity(Post.self, id: post.id), "\(feed.path), seed \(seed)")
      }
      #expect(!feed.valueStamp.isUnconfirmed)
    }
  }
}
