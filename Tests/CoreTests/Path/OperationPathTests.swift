import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct OperationPathTests {
  private func expectAlike(_ paths: [OperationPath], sourceLocation: SourceLocation = #_sourceLocation) {
    for lhs in paths {
      for rhs in paths {
        expect(lhs, equals: rhs, sourceLocation: sourceLocation)
        expect(lhs.hashValue, equals: rhs.hashValue, sourceLocation: sourceLocation)
        #expect(lhs.isPrefix(of: rhs), sourceLocation: sourceLocation)
      }
    }
  }

  @Test func `Every way of building a path makes the same path`() {
    let values: [any Hashable & Sendable] = ["users", 1]
    let literal: OperationPath = ["users", 1]
    let wrapped: OperationPath = [OperationPath.Element("users"), OperationPath.Element(OperationPath.Element(1))]
    var appended = OperationPath()
    appended.append("users")
    appended.append(1)
    var appendedElements = OperationPath("users")
    appendedElements.append(OperationPath.Element(1))
    var appendedPath = OperationPath()
    appendedPath.append(["users", 1])
    var inserted: OperationPath = [1]
    inserted.insert(OperationPath.Element("users"), at: 0)
    var replaced: OperationPath = ["users", 2, 3]
    replaced.replaceSubrange(1..., with: [OperationPath.Element(1)])
    var assigned: OperationPath = ["users", 2]
    assigned[1] = OperationPath.Element(1)
    var concatenated: OperationPath = ["users"]
    concatenated += [OperationPath.Element(1)]
    expectAlike([literal, wrapped, appended, appendedElements, appendedPath])
    expectAlike([literal, inserted, replaced, assigned, concatenated])
    let longer: OperationPath = ["x", "users", 1]
    let users = OperationPath("users")
    let one = OperationPath(1)
    var alike: [OperationPath] = [literal]
    alike.append(OperationPath(elements: values))
    alike.append(OperationPath(values))
    alike.append(OperationPath(literal))
    alike.append(OperationPath(Array(literal)))
    alike.append(OperationPath(longer.dropFirst()))
    alike.append(OperationPath(literal[...]))
    alike.append(OperationPath(literal.lazy.map { $0 }))
    alike.append(OperationPath(values.map { OperationPath.Element($0) }))
    alike.append(OperationPath(["users", 1]))
    alike.append(users.appending(1))
    alike.append(users.appending(OperationPath.Element(1)))
    alike.append(users.appending(values[1]))
    alike.append(users.appending([1]))
    alike.append(users.appending(one))
    alike.append(users + one)
    expectAlike(alike)
  }

  @Test func `A path is made of one element or of a sequence`() {
    let erased: any Hashable & Sendable = "users"
    let erasedArray: any Hashable & Sendable = [1, 2]
    let strings = ["a", "b"]
    expectAlike([["users"], OperationPath("users"), OperationPath(["users"]), OperationPath(erased)])
    expectAlike([[1], OperationPath(1), OperationPath(OperationPath.Element(1)), OperationPath(1...1)])
    expectAlike([["a", "b"], OperationPath(strings), OperationPath(AnySequence(strings)), OperationPath(["a", "b"])])
    expectAlike([[], OperationPath(), OperationPath([]), OperationPath([Int]()), OperationPath(elements: [])])
    expectAlike([[Substring("users")], OperationPath(Substring("users")), OperationPath("users".prefix(5))])
    expect(OperationPath(erasedArray), equals: [[1, 2]])
    expect(OperationPath([1, 2]), equals: [1, 2])
  }

  @Test func `A value in a literal is one element`() {
    let number: Int? = 1
    let missing: Int? = nil
    let nested: OperationPath = ["a", 1]
    expect(([number] as OperationPath).count, equals: 1)
    #expect(([number] as OperationPath) != [1])
    expect(([missing] as OperationPath), equals: [Int?.none])
    #expect(([missing] as OperationPath) != [String?.none])
    expect(([[1, 2]] as OperationPath).count, equals: 1)
    #expect(([[1, 2]] as OperationPath) != [1, 2])
    expect(([nested] as OperationPath).count, equals: 1)
    #expect(([nested] as OperationPath) != nested)
    expect(([nested] as OperationPath), equals: [["a", 1] as OperationPath])
    expectAlike([[nested, [nested] as OperationPath], OperationPath(elements: [nested, OperationPath([nested])])])
    var appended: OperationPath = ["a"]
    appended.append([1, 2] as [Int])
    expect(appended, equals: ["a", [1, 2]])
    expect(OperationPath("a").appending(OperationPath.Element(nested)), equals: ["a", nested])
  }

  @Test func `Elements are equal when type and value are`() {
    let different: [OperationPath] = [
      ["1"], [1], [UInt8(1)], [Int64(1)], [1.0], [Float(1)], [true], [Substring("1")], [Character("1")], [[1]],
      [[UInt8(1)]],
      [Int?.some(1)], [Int??.some(1)], [PathQuery(id: 1)], [["1": 1]], [], [1, 1], [OperationPath(1)], [Set([1])],
    ]
    for (position, lhs) in different.enumerated() {
      for (otherPosition, rhs) in different.enumerated() { expect((lhs == rhs), equals: (position == otherPosition)) }
    }
    expect(Set(different + different).count, equals: different.count)
    expect(OperationPath("e\u{301}"), equals: ["\u{e9}"])
    expect(OperationPath("e\u{301}").hashValue, equals: OperationPath("\u{e9}").hashValue)
  }

  @Test func `Values that are not equal to themselves keep the laws of equality`() {
    expectAlike([[Double.nan], OperationPath(Double.nan), OperationPath([Double.nan])])
    expectAlike([OperationPath(Float.nan), [Float.nan], [OperationPath.Element(Float.nan)]])
    expectAlike([[PathQuery(id: 1, weight: .nan)], OperationPath(PathQuery(id: 1, weight: .nan))])
    expectAlike([[Double?.some(.nan)], OperationPath(Double?.some(.nan))])
    #expect(([PathQuery(id: 1, weight: .nan)] as OperationPath) != [PathQuery(id: 2, weight: .nan)])
    // An array compares its own elements, so only copies of it are sure to be the same element.
    let array = [1, Double.nan]
    expectAlike([[array], OperationPath([array]), OperationPath(elements: [array]), OperationPath().appending(array)])
    #expect(([array] as OperationPath) != [[2, Double.nan]])
    #expect(([Double.nan] as OperationPath) != [Float.nan])
    #expect(([Double.nan] as OperationPath) != [0.0])
    expect(Set([[Double.nan], [Double.nan], [0.0], [-0.0]] as [OperationPath]).count, equals: 2)
  }

  @Test func `The dynamic type of an object counts`() {
    let dog = PathDog("Rex")
    let animal: PathAnimal = dog
    expectAlike([[dog], [animal], OperationPath(dog), OperationPath(animal), [PathDog("Rex")]])
    #expect(OperationPath(animal) != [PathAnimal("Rex")])
    expect(OperationPath(PathAnimal("Rex")), equals: [PathAnimal("Rex")])
    #expect(OperationPath(animal).first?.base is PathDog)
  }

  @Test func `An element returns its value`() {
    let path: OperationPath = ["users", 1, PathQuery(id: 2), OperationPath.Element(OperationPath.Element(3.5))]
    expect(path[0].base as? String, equals: "users")
    expect(path[1].base as? Int, equals: 1)
    expect(path[2].base as? PathQuery, equals: PathQuery(id: 2))
    expect(path[3].base as? Double, equals: 3.5)
  }

  @Test func `A path begins with each of its prefixes and with no other path`() {
    let path: OperationPath = ["users", 1, "friends"]
    for length in 0...path.count {
      let prefix = OperationPath(path.prefix(length))
      #expect(prefix.isPrefix(of: path))
      expect(path.isPrefix(of: prefix), equals: (length == path.count))
      expect(prefix.appending("friend").isPrefix(of: path), equals: false)
    }
    #expect(OperationPath().isPrefix(of: []))
    #expect(!OperationPath(1).isPrefix(of: path))
    #expect(!OperationPath(["users", UInt8(1)]).isPrefix(of: path))
  }

  @Test func `Descriptions read like literals`() {
    expect(OperationPath().description, equals: "[]")
    expect((["users", 1] as OperationPath).description, equals: #"["users", 1]"#)
    let path: OperationPath = ["say \"hi\"", 1.5, Character("x"), Substring("y")]
    expect(path.description, equals: #"["say \"hi\"", 1.5, "x", "y"]"#)
    expect(([["a", 1] as OperationPath, [1, 2]] as OperationPath).description, equals: #"[["a", 1], [1, 2]]"#)
  }

  @Test func `A long path works like a short one`() {
    var path = OperationPath()
    for number in 0..<100_000 { path.append(number) }
    expect(path, equals: OperationPath(0..<100_000))
    expect(path.hashValue, equals: OperationPath(0..<100_000).hashValue)
    #expect(OperationPath(0..<99_999).isPrefix(of: path))
    #expect(path.appending(1) != path.appending(2))
  }
}
