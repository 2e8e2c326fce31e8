import PostService
import Synchronization

/// Prints checks of the requests at the server, line by line.
final class Report: Sendable {
  private let wrong = Mutex(0)

  var wrongCount: Int { self.wrong.withLock { $0 } }

  /// Checks a number of requests.
  func check(_ what: String, _ requests: Int, equals expected: Int) {
    let isRight = requests == expected
    self.check("\(what.padding(to: 50)) \(requests)\(isRight ? "" : ", expected \(expected)")", isRight)
  }

  func check(_ claim: String, _ holds: Bool) {
    print("\(holds ? "ok   " : "wrong") \(claim)")
    if !holds { self.wrong.withLock { $0 += 1 } }
  }
}

/// The authors in all requests for several authors.
final class AskedAuthors: Sendable {
  private let state = Mutex<[Int]>([])

  var ids: [Int] { self.state.withLock { $0 } }

  func record(_ answer: ServerAnswer) {
    guard answer.route == .authors else { return }
    let ids = answer.query.split { !$0.isNumber }.compactMap { Int($0) }
    self.state.withLock { $0 += ids }
  }

  func removeAll() {
    self.state.withLock { $0.removeAll() }
  }
}
