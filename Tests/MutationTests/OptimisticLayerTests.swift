import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationMutation

/// A call that ends while its update is added to a store.
@Suite(.bounded, .warningsAreIssues)
struct OptimisticLayerTests {
  enum End: CaseIterable {
    case failure
    case success
    case successWithRefetch

    func perform(on layer: any EffectLayer) {
      switch self {
      case .failure: layer.fail()
      case .success: layer.succeed(invalidating: InvalidatedStores(prefixes: []))
      case .successWithRefetch: layer.succeed(invalidating: InvalidatedStores(prefixes: [["feed"]]))
      }
      layer.commitAtRest()
    }
  }

  private final class LayerBox: Sendable {
    private let content = Mutex<(any EffectLayer)?>(nil)

    func put(_ layer: any EffectLayer) {
      self.content.withLock { $0 = layer }
    }

    func take() -> (any EffectLayer)? {
      self.content.withLock { layer in
        defer { layer = nil }
        return layer
      }
    }
  }

  @Test(arguments: End.allCases)
  func `An update that has ended while it is added to a store is not left in it`(end: End) throws {
    let feeds = Feeds()
    let box = LayerBox()
    let layer = OptimisticLayer<FeedState>(on: ["feed"], in: feeds.client) { feed in
      if let layer = box.take() { end.perform(on: layer) }
      feed?.append("new")
    }
    box.put(layer)

    let feed = feeds.store()

    expect(feed.currentValue, equals: (end == .success ? ["old", "new"] : ["old"]))
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
  }

  @Test func `An update has its place in present stores and in new ones`() {
    let feeds = Feeds()
    let feed = feeds.store()
    func layer(_ text: String, at place: StateLayerPlace?) -> OptimisticLayer<FeedState> {
      OptimisticLayer<FeedState>(on: ["feed"], in: feeds.client, at: place) { $0?.append(text) }
    }
    let place = StateLayerPlace.next()
    let layers = [
      layer("5", at: nil), layer("3", at: place),
      layer("2", at: .earlierProcess(-1)), layer("1", at: .earlierProcess(.min)),
      layer("4", at: place), layer("6", at: .next()),
    ]
    expect(feed.currentValue, equals: ["old", "1", "2", "3", "4", "5", "6"])
    expect(feeds.store(2).currentValue, equals: ["old", "1", "2", "3", "4", "5", "6"])
    layers[0].succeed(invalidating: InvalidatedStores(prefixes: []))
    expect(feed.currentValue, equals: ["old", "5", "1", "2", "3", "4", "6"])
    for layer in layers { layer.fail() }
    expect(feed.currentValue, equals: ["old", "5"])
  }

  @Test(arguments: End.allCases)
  func `A second end of an update has no effect`(end: End) throws {
    let feeds = Feeds()
    let feed = feeds.store()
    let layer = OptimisticLayer<FeedState>(on: ["feed"], in: feeds.client) { $0?.append("new") }
    expect(feed.currentValue, equals: ["old", "new"])
    for _ in 1...2 { end.perform(on: layer) }
    expect(feed.currentValue, equals: (end == .failure ? ["old"] : ["old", "new"]))
    expect(feeds.store(2).currentValue, equals: ["old"])
  }
}
