import Operation
import PostService
import Synchronization

/// The store of the discussion, and the attempts that its state has shown.
final class Discussion: Sendable {
  typealias State = CommentTree.State

  let transcript: Transcript
  let server: PostServer
  let client: OperationClient
  let store: OperationStore<State>
  private let attempts = Mutex<[Int]>([])

  /// - Parameters:
  ///   - transcript: Receives the lines of the story.
  ///   - server: The server of the posts.
  ///   - api: The client of the server.
  ///   - retries: Whether failed runs are retried, without which the story goes wrong.
  init(transcript: Transcript, server: PostServer, api: PostAPI, retries: Bool) {
    var context = OperationContext()
    context.postAPI = api
    self.transcript = transcript
    self.server = server
    // The defaults retry and deduplicate any operation that a store may run by itself, also one of a kind that they
    // do not know.
    self.client = OperationClient(
      defaultContext: context,
      storeCreator: .default(
        retryLimit: retries ? 2 : 0,
        backoff: .constant(.milliseconds(20)),
        networkObserver: nil,
        activityObserver: nil
      )
    )
    self.store = self.client.store(for: CommentTree(postID: 1).stale(after: .seconds(60)))
  }

  var tree: Tree<Int, Comment> { self.store.currentValue }

  /// The numbers of the attempts after first ones that the state has shown since the last call.
  func takeAttempts() -> [Int] {
    self.attempts.withLock { attempts in
      defer { attempts = [] }
      return attempts
    }
  }

  var handler: OperationEventHandler<State> {
    OperationEventHandler(onStateChanged: { state, _ in
      guard let attempt = state.attempt?.index, attempt > 1 else { return }
      self.attempts.withLock { attempts in
        if attempts.last != attempt { attempts.append(attempt) }
      }
    })
  }
}

extension Discussion {
  /// Prints the tree, with the branches that are not loaded.
  func show() {
    let state = self.store.state
    for (depth, node) in state.currentValue.flattened {
      let comment = node.value
      var line = String(repeating: "  ", count: depth) + "\(comment.author): \(comment.text)"
      if comment.id == 0 { line += "  (being sent)" }
      if let error = state.error(of: node.id) {
        line += "  (! \(error.inWords))"
      } else if state.currentValue.children(of: node.id) == nil, comment.replyCount > 0 {
        line += "  (+ \(comment.replyCount) not loaded)"
      }
      self.transcript.say(.state, line)
    }
  }

  /// Checks which comments the tree has, from the top down, and which requests were made for that.
  func check(_ claim: String, has ids: [Int], after requests: [Route: Int]) {
    self.transcript.check(claim, self.tree.flattened.map(\.node.id), equals: ids)
    for (route, count) in requests.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      self.transcript.check("the server saw \(route) \(count.times)", self.server.log.count(of: route), equals: count)
    }
    let expected = requests.values.reduce(0, +)
    self.transcript.check("and nothing else", self.server.log.total, equals: expected)
    self.server.log.removeAll()
  }
}
