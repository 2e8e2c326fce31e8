/// A value in a file, with its place.
struct JSONNode {
  enum Value {
    case object(JSONObject)
    case array([JSONNode])
    case string(JSONString)
    case number
    case boolean
    case null
  }

  let place: Place
  let value: Value

  /// The kind of the value, for messages.
  var kind: String {
    switch self.value {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .number: "a number"
    case .boolean: "a Boolean"
    case .null: "null"
    }
  }
}

/// The members of an object in the order of the text, each name once.
struct JSONObject {
  struct Member {
    let name: JSONString
    let value: JSONNode
  }

  var members: [Member] = []

  /// Whether members may be missing, because a part of the object could not be read.
  var isIncomplete = false

  subscript(name: String) -> Member? { self.members.first { $0.name.text == name } }
}

/// A string in a file, with the place of each of its bytes.
struct JSONString {
  let text: String
  let place: Place

  /// The offsets in the file of each byte of `text` and of its end.
  private let offsets: [Int]

  init(text: String, place: Place, offsets: [Int]) {
    self.text = text
    self.place = place
    self.offsets = offsets
  }

  /// The place of a byte of `text`, or of its end.
  func place(ofByte index: Int) -> Place {
    guard let last = self.offsets.last else { return self.place }
    return Place(file: self.place.file, offset: index < self.offsets.count ? self.offsets[index] : last)
  }
}
