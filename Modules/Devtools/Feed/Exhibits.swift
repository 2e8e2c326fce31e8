#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationEvents
  internal import Synchronization

  /// What a page shows besides the stores.
  final class Exhibits: Sendable {
    typealias Snapshots = @Sendable () -> [any OperationResilienceSnapshot]

    private let sources = Mutex<[Snapshots]>([])
    private let graphSources = Mutex<[any OperationWaitGraphSource]>([])

    func add(_ source: any OperationWaitGraphSource) { self.graphSources.withLock { $0.append(source) } }

    /// The graphs of now.
    var graphs: [OperationWaitGraph] { self.graphSources.withLock { $0 }.map { $0.waitGraph() } }

    func add(_ snapshots: @escaping Snapshots) { self.sources.withLock { $0.append(snapshots) } }

    /// The snapshots of now.
    var snapshots: [any OperationResilienceSnapshot] {
      self.sources.withLock { $0 }.flatMap { $0() }
    }
  }

  extension JSONText {
    mutating func value(_ snapshot: any OperationResilienceSnapshot) {
      self.object { json in
        json.member("name", snapshot.name)
        json.member("kind", "\(type(of: snapshot))")
        json.member("text", snapshot.description)
        json.key("gauges")
        json.object { json in
          for (name, number) in snapshot.gauges.sorted(by: { $0.key < $1.key }) { json.member(name, number) }
        }
      }
    }

    mutating func value(_ graph: OperationWaitGraph) {
      self.object { json in
        json.member("name", graph.name)
        json.member("summary", graph.summary)
        json.member("leftOut", graph.leftOut)
        json.key("nodes")
        json.array { json in
          for node in graph.nodes { json.value(node) }
        }
        json.key("edges")
        json.array { json in
          for edge in graph.edges {
            json.object { json in
              json.member("from", edge.from)
              json.member("to", edge.to)
              json.member("reason", edge.reason)
            }
          }
        }
      }
    }

    private mutating func value(_ node: OperationWaitGraph.Node) {
      self.object { json in
        json.member("id", node.id)
        json.member("name", node.name)
        json.member("kind", node.kind.rawValue)
        json.member("state", node.state)
        guard let path = node.path else { return }
        json.key("path")
        json.value(path.shownElements)
      }
    }
  }
#endif
