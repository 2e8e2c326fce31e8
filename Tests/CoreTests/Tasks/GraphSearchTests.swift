import CoreFixtures
import TestFixtures
import Testing

@testable import OperationTools

@Suite(.bounded) struct GraphSearchTests {
  @Test func `A search visits what can be reached, nearest first and each node once`() {
    let graph = [0: [1, 2], 1: [3], 2: [3, 0], 3: [1, 4], 4: [], 5: [0]]
    expect(visited(of: graph, from: 0), equals: [0, 1, 2, 3, 4])
    expect(visited(of: graph, from: 4), equals: [4])
    expect(visited(of: [:], from: 7), equals: [7])
  }

  @Test func `A node that waits for itself is visited once`() {
    expect(visited(of: [0: [0]], from: 0), equals: [0])
  }

  @Test func `A path begins with the first node and is a shortest one`() {
    var search = GraphSearch<Int, Int>()
    search.add(0, 0)
    let graph = [0: [1, 2], 1: [3], 2: [4], 3: [4], 4: [5]]
    while let (step, node) = search.next() {
      if node == 5 {
        expect(search.path(to: step), equals: [0, 2, 4, 5])
        return
      }
      for next in graph[node] ?? [] { search.add(next, next, after: step) }
    }
    Issue.record("The node was not found.")
  }

  @Test func `A search without a beginning visits nothing`() {
    var search = GraphSearch<Int, Int>()
    #expect(search.next() == nil)
  }

  @Test(arguments: 0..<20)
  func `A search of a random graph finds what a reference finds`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...40, using: &random)
    var graph: [Int: [Int]] = [:]
    for _ in 0..<Int.random(in: 0...count * 2, using: &random) {
      graph[Int.random(in: 0..<count, using: &random), default: []].append(Int.random(in: 0..<count, using: &random))
    }
    var distances = [0: 0]
    // Relaxed until nothing changes, which is slow and needs no queue.
    var isSettled = false
    while !isSettled {
      isSettled = true
      for (node, nexts) in graph {
        guard let distance = distances[node] else { continue }
        for next in nexts where distances[next].map({ $0 > distance + 1 }) ?? true {
          distances[next] = distance + 1
          isSettled = false
        }
      }
    }
    var search = GraphSearch<Int, Int>()
    search.add(0, 0)
    var found: [Int: Int] = [:]
    while let (step, node) = search.next() {
      let path = search.path(to: step)
      expect(found[node], equals: nil)
      found[node] = path.count - 1
      for (node, next) in zip(path, path.dropFirst()) { expect(graph[node]?.contains(next), equals: true) }
      for next in graph[node] ?? [] { search.add(next, next, after: step) }
    }
    expect(found, equals: distances)
  }

  private func visited(of graph: [Int: [Int]], from start: Int) -> [Int] {
    var search = GraphSearch<Int, Int>()
    search.add(start, start)
    var visited: [Int] = []
    while let (step, node) = search.next() {
      visited.append(node)
      for next in graph[node] ?? [] { search.add(next, next, after: step) }
    }
    return visited
  }
}
