// The tests of the canary of Scripts/check-order: one is sound, each of the others depends on the order of tasks.

import Testing

@Test func sound() async {
  for number in 0..<200 {
    let task = Task { number }
    #expect(await task.value == number)
  }
}

/// The order in which two tasks end.
func order() async -> [Int] {
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<2 { group.addTask { number } }
    return await group.reduce(into: []) { $0.append($1) }
  }
}

@Test func failing() async {
  for _ in 0..<200 { #expect(await order() == [0, 1]) }
}

@Test func hanging() async {
  while await order() == [0, 1] {}
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
}
