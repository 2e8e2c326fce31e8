import Foundation
import Operation

/// A post of a list, and when the list was fetched.
let seen = (post: Post(id: 5, title: "Seen in a list"), fetchedAt: Date())
